"""The variants that options name, looked at before anything large is loaded."""

from collections.abc import Sequence

from schedlab.base.errors import UsageError

AUTO = "auto"
NO_VARIANT = (
    "no variant is given. Name one, --variant 'NB-OFF: sysctl kernel.numa_balancing=0';"
    "\n  or --variant auto for what this host can switch, or --aa for an A/A run."
)


def check_variants(texts: Sequence[str], needed: bool) -> None:
    """Refuse what can be refused without a plan.

    Raises:
        UsageError: none is given where one is needed, or one cannot be read.
    """
    if needed and not texts:
        raise UsageError(NO_VARIANT)
    if texts and AUTO not in texts:
        from schedlab.settings.variant import parse_variant

        for text in texts:
            parse_variant(text)
