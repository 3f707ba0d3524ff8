"""What tracefs says of its buffers' pages and of an event: `header_page`, `events/*/*/format`."""

_EVENT = """name: {name}
ID: {number}
format:
\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;
\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;
\tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;
\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;

{fields}
print fmt: {printed}
"""
_SWITCH = """\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:0;
\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;
\tfield:int prev_prio;\toffset:28;\tsize:4;\tsigned:1;
\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;
\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:0;
\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;
\tfield:int next_prio;\toffset:60;\tsize:4;\tsigned:1;
"""
_SWITCH_TEXT = (
    '"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%s ==> next_comm=%s next_pid=%d'
    ' next_prio=%d", REC->prev_comm, REC->prev_pid, REC->prev_prio, {state}, REC->next_comm,'
    " REC->next_pid, REC->next_prio"
)
PAGE = """\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;
\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;
\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;
\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;
"""


def event_format(name: str, number: int, fields: str, printed: str) -> str:
    """Return that of an event with these fields beside those that all have."""
    return _EVENT.format(name=name, number=number, fields=fields, printed=printed)


def switch_format(number: int, state: str) -> str:
    """Return that of sched_switch; `state` is how it prints the state of the task before."""
    return event_format("sched_switch", number, _SWITCH, _SWITCH_TEXT.format(state=state))
