"""The fields of events, as headers say them that the engine prints by."""

from pathlib import Path

from schedlab.kernels.tracepoints import event_fields

SCHED = """
#define TRACE_SYSTEM sched
TRACE_EVENT(sched_switch,
    TP_PROTO(bool preempt),
    TP_fast_assign( /* prev_fake=%d */ ),
    TP_printk("prev_comm=%s prev_state=%s%s ==> next_comm=%s "
          "next_prio=%d [%s]", __entry->prev_comm,
          __print_flags(__entry->state, "|", { 1, "S=1" }))
);
DECLARE_EVENT_CLASS(sched_wakeup_template,
    TP_PROTO(struct task_struct *p),
    TP_printk("comm=%s target_cpu=%03d", __entry->comm, __entry->cpu)
);
DEFINE_EVENT(sched_wakeup_template, sched_waking, TP_PROTO(struct task_struct *p), TP_ARGS(p));
#define DEFINE_EVENT_SCHEDSTAT DEFINE_EVENT
DECLARE_EVENT_CLASS_SCHEDSTAT(sched_stat_template,
    TP_printk("comm=%s delay=%Lu [ns]", __entry->comm, __entry->delay));
DEFINE_EVENT_SCHEDSTAT(sched_stat_template, sched_stat_wait,
         TP_PROTO(struct task_struct *tsk, u64 delay));
DECLARE_TRACE(pelt_cfs_tp, TP_PROTO(struct cfs_rq *cfs_rq), TP_ARGS(cfs_rq));
// TRACE_EVENT(sched_gone, TP_printk("a=%d", 1));
"""


def header(folder: Path, text: str) -> Path:
    place = folder / "include/trace/events"
    place.mkdir(parents=True)
    (place / "sched.h").write_text(text)
    return folder


def test_events_have_the_fields_that_they_print(tmp_path: Path) -> None:
    assert event_fields([header(tmp_path, SCHED)]) == {
        "sched_switch": ("prev_comm", "prev_state", "next_comm", "next_prio"),
        "sched_waking": ("comm", "target_cpu"),
        "sched_stat_wait": ("comm", "delay"),
    }


def test_a_patched_header_comes_first(tmp_path: Path) -> None:
    patched = header(tmp_path / "src", SCHED.replace("delay=%Lu", "delay=%Lu since=%Lu"))
    found = event_fields([patched, header(tmp_path / "tree", SCHED)])
    assert found["sched_stat_wait"] == ("comm", "delay", "since")
    assert event_fields([tmp_path / "nothing"]) == {}
