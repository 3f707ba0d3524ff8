"""A described machine: its CPUs and how they are grouped, as TOML holds it.

Groups are CPU lists as the kernel writes them, one string a group.
"""

from pydantic import BaseModel, ConfigDict, Field

from schedlab.cpulist import parse_cpulist


class Topology(BaseModel):
    """Which CPUs stand together at each level, from SMT siblings up to NUMA nodes."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    core: tuple[str, ...]
    llc: tuple[str, ...]
    package: tuple[str, ...]
    node: tuple[str, ...]
    cluster: tuple[str, ...] = ()


class Machine(BaseModel):
    """A machine a benchmark is sized for and a report speaks of."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: str
    title: str = ""
    arch: str
    memory_gib: int = Field(gt=0)
    cpus: str
    topology: Topology

    @property
    def nr_cpus(self) -> int:
        """Count the CPUs."""
        return len(parse_cpulist(self.cpus))

    def sizes(self) -> dict[str, int]:
        """Give the names a size expression may use, e.g. `cpus/2`."""
        return {
            "cpus": self.nr_cpus,
            "cores": len(self.topology.core),
            "llcs": len(self.topology.llc),
            "packages": len(self.topology.package),
            "nodes": len(self.topology.node),
            "memory_gib": self.memory_gib,
        }
