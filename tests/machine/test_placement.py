import pytest

from schedlab.base.errors import UsageError
from schedlab.machine.model import Machine, find_machine
from schedlab.machine.placement import place


def made(cpus: str, **topology: list[str]) -> Machine:
    return Machine.model_validate({"name": "made", "cpus": cpus, "topology": topology})


def roles(machine: Machine) -> tuple[str, ...]:
    return tuple(place(machine).roles().values())


def test_the_documents_machine_gives_the_documents_cpus() -> None:
    assert roles(find_machine("power9-lpar-smt4")) == ("8", "10,12,14", "16")


@pytest.mark.parametrize(
    ("machine", "expected"),
    [
        (find_machine("epyc-7713-2p-nps1"), ("8", "136", "16")),
        (find_machine("spr-8480-2p"), ("1", "113", "2")),
        (made("0-3", core=["0-1", "2-3"]), ("2", "3", "0")),
        (made("0-3", core=["0-3"]), ("0", "1-2", "3")),
        (made("0-1", core=["0-1"]), ("0", "1", "0")),
        (made("4-5"), ("5", "4", "5")),
        (made("0-2"), ("1", "2", "0")),
        (find_machine("hikey960"), ("4", "5", "6")),
    ],
    ids=lambda value: value.name if isinstance(value, Machine) else "",
)
def test_each_role_has_its_cpus(machine: Machine, expected: tuple[str, ...]) -> None:
    assert roles(machine) == expected


def test_what_the_machine_lacks_is_said() -> None:
    assert "no SMT" in place(made("0-2")).described()
    assert "no third CPU" not in place(made("0-2")).described()
    assert "no third CPU: the waker sleeps on a timer" in place(made("0-1")).described()
    assert "no" not in place(made("0-3", core=["0-1", "2-3"])).described()


def test_one_cpu_is_not_enough() -> None:
    with pytest.raises(UsageError, match="made has one CPU"):
        place(made("0"))
