"""Why a call of the simulator failed, in one line."""

from schedlab.targets.sim_program import Ended, failure

REPORT = """==7==WARNING: ASan is ignoring requested __asan_handle_no_return
=================================================================
==7==ERROR: AddressSanitizer: use-after-poison on address 0x7fdfd2a00048 at pc 0x0000005b5cad
WRITE of size 8 at 0x7fdfd2a00048 thread T0
    #0 0x5b5cac in writes_enqueue /scx/writes.bpf.c:22

SUMMARY: AddressSanitizer: use-after-poison /scx/writes.bpf.c:22 in writes_enqueue
Shadow bytes around the buggy address:
==7==ABORTING
"""


def test_what_address_sanitizer_found_is_said_with_its_line() -> None:
    """The report ends with a line that says nothing of the fault."""
    assert failure(Ended(1, 0.1, REPORT)) == (
        "AddressSanitizer: use-after-poison /scx/writes.bpf.c:22 in writes_enqueue"
        " (WRITE of size 8)"
    )
