"""Energy and frequencies of a host, read from recorded sysfs trees."""

from pathlib import Path

import pytest

from schedlab.base.errors import HostError
from schedlab.base.system import LocalSystem
from schedlab.counters.choice import check_names
from schedlab.counters.cpufreq import CpufreqGroup
from schedlab.counters.energy import EnergyGroup
from schedlab.counters.group import Unavailable, difference
from schedlab.counters.perf_stat import is_event, parse_report

# A Skylake server of one package, as `grep . intel-rapl*/{name,energy_uj,...}` shows it.
RAPL = {
    "class/powercap/intel-rapl/enabled": "1",
    "class/powercap/intel-rapl:0/name": "package-0",
    "class/powercap/intel-rapl:0/energy_uj": "262143000000",
    "class/powercap/intel-rapl:0/max_energy_range_uj": "262143328850",
    "class/powercap/intel-rapl:0:0/name": "dram",
    "class/powercap/intel-rapl:0:0/energy_uj": "1500000",
    "class/powercap/intel-rapl:0:0/max_energy_range_uj": "65712999613",
    "class/powercap/intel-rapl-mmio:0/name": "package-0",
    "class/powercap/intel-rapl-mmio:0/energy_uj": "262143000000",
}
# Juno's energy meters, and two cores and the socket of amd_energy.
SENSORS = {
    "class/hwmon/hwmon0/name": "scpi_sensors",
    "class/hwmon/hwmon0/energy1_input": "4500000",
    "class/hwmon/hwmon0/energy1_label": "a53",
    "class/hwmon/hwmon0/energy2_input": "12000000",
    "class/hwmon/hwmon0/energy2_label": "a57",
    "class/hwmon/hwmon0/temp1_input": "40000",
    "class/hwmon/hwmon1/name": "amd_energy",
    "class/hwmon/hwmon1/energy1_input": "1000000",
    "class/hwmon/hwmon1/energy1_label": "Ecore000",
    "class/hwmon/hwmon1/energy2_input": "2000000",
    "class/hwmon/hwmon1/energy2_label": "Ecore001",
    "class/hwmon/hwmon1/energy3_input": "9000000",
    "class/hwmon/hwmon1/energy3_label": "Esocket0",
}
POLICY = "devices/system/cpu/cpufreq/policy"
# HiKey960's two clusters.
STATS = {
    f"{POLICY}0/related_cpus": "0 1 2 3",
    f"{POLICY}0/stats/time_in_state": "533000 5000\n999000 250\n1844000 7\n",
    f"{POLICY}0/stats/total_trans": "91",
    f"{POLICY}4/related_cpus": "4 5 6 7",
    f"{POLICY}4/stats/time_in_state": "903000 4000\n2362000 1257\n",
    f"{POLICY}4/stats/total_trans": "12",
}


def host(root: Path, *trees: dict[str, str]) -> LocalSystem:
    for tree in trees:
        for name, text in tree.items():
            path = root / "sys" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"{text}\n")
    return LocalSystem(root)


def test_rapl_by_zone(tmp_path: Path) -> None:
    assert EnergyGroup().read(host(tmp_path, RAPL)) == pytest.approx(
        {"energy:package-0:joules": 262143.0, "energy:package-0/dram:joules": 1.5}
    )


def test_sensors_by_label(tmp_path: Path) -> None:
    assert EnergyGroup().read(host(tmp_path, SENSORS)) == pytest.approx(
        {
            "energy:scpi_sensors/a53:joules": 4.5,
            "energy:scpi_sensors/a57:joules": 12.0,
            "energy:amd_energy/Ecore:joules": 3.0,
            "energy:amd_energy/Esocket0:joules": 9.0,
        }
    )


def test_a_zone_that_begins_anew(tmp_path: Path) -> None:
    group, system = EnergyGroup(), host(tmp_path, RAPL)
    before = group.read(system)
    system.write("/sys/class/powercap/intel-rapl:0/energy_uj", "99671150")
    system.write("/sys/class/powercap/intel-rapl:0:0/energy_uj", "2750000")
    counted = difference(before, group.read(system), group.ranges(system))
    assert counted == pytest.approx(
        {"energy:package-0:joules": 100.0, "energy:package-0/dram:joules": 1.25}
    )


def test_a_counter_without_range_is_not_mended() -> None:
    assert difference({"a": 5.0}, {"a": 2.0}, {"b": 10.0}) == {"a": -3.0}


def test_files_for_root_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    system = host(tmp_path, RAPL)

    def refuse(path: str) -> str:
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.setattr(system, "read", refuse)
    with pytest.raises(Unavailable, match=r"energy_uj: Permission denied \(RAPL's files are for"):
        EnergyGroup().read(system)


def test_a_host_without_any(tmp_path: Path) -> None:
    system = host(tmp_path)
    with pytest.raises(Unavailable, match="neither RAPL's zones"):
        EnergyGroup().read(system)
    with pytest.raises(Unavailable, match="keeps no times of frequencies"):
        CpufreqGroup().read(system)


def test_a_broken_sensor_is_named(tmp_path: Path) -> None:
    broken = {"class/hwmon/hwmon0/energy1_input": "many"}
    with pytest.raises(HostError, match="energy1_input: a number is expected"):
        EnergyGroup().read(host(tmp_path, broken))


def test_time_at_each_frequency(tmp_path: Path) -> None:
    assert CpufreqGroup().read(host(tmp_path, STATS)) == pytest.approx(
        {
            "cpufreq:cpu0-3:533MHz:seconds": 50.0,
            "cpufreq:cpu0-3:999MHz:seconds": 2.5,
            "cpufreq:cpu0-3:1844MHz:seconds": 0.07,
            "cpufreq:cpu0-3:transitions": 91,
            "cpufreq:cpu4-7:903MHz:seconds": 40.0,
            "cpufreq:cpu4-7:2362MHz:seconds": 12.57,
            "cpufreq:cpu4-7:transitions": 12,
        }
    )


def test_policies_with_the_same_frequencies_are_summed(tmp_path: Path) -> None:
    alike = {}
    for cpu in range(2):
        alike[f"{POLICY}{cpu}/related_cpus"] = str(cpu)
        alike[f"{POLICY}{cpu}/stats/time_in_state"] = "2600000 100\n1500000 300\n"
        alike[f"{POLICY}{cpu}/stats/total_trans"] = "5"
    assert CpufreqGroup().read(host(tmp_path, alike)) == {
        "cpufreq:cpu0-1:2600MHz:seconds": 2.0,
        "cpufreq:cpu0-1:1500MHz:seconds": 6.0,
        "cpufreq:cpu0-1:transitions": 10.0,
    }


def test_rapl_by_perf() -> None:
    """Where powercap's driver is missing: a plan names the event itself."""
    check_names(["power/energy-pkg/", "energy", "cpufreq"])
    assert is_event("power/energy-pkg/")
    report = "153.27,Joules,power/energy-pkg/,1001112233,100.00,,\n"
    assert parse_report(report) == {"power/energy-pkg/": 153.27}
