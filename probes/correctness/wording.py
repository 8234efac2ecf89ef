"""Numbers as the summary, reasons and limitations write them."""


def count(value: int) -> str:
    """Write a whole number with thousands marked."""
    return f"{value:,}"


def several(value: int, noun: str) -> str:
    """Write a number with its noun, plural where there is more than one."""
    return f"{count(value)} {noun}" if value == 1 else f"{count(value)} {noun}s"


def percent(share: float) -> str:
    """Write a share (0 to 1) in per cent, never rounding what is not all up to 100 %."""
    value = 100 * share
    if 99.5 <= value < 100 or 0 < value < 0.5:
        text = f"{value:.3g}" if value < 50 else f"{100 - float(f'{100 - value:.1g}'):.10g}"
    else:
        text = f"{value:.1f}".removesuffix(".0")
    return f"{text} %"


def number(value: float) -> str:
    """Write a measured number with three digits."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def sentence(text: str) -> str:
    """Make a sentence of a clause; the name of an argument keeps its small letter."""
    first = text.split(" ", 1)[0]
    return (text if "_" in first else text[:1].upper() + text[1:]).rstrip(".") + "."


def tokens(value: float) -> str:
    """Write a median of token counts: whole, or a half."""
    return f"{value:,.10g}"
