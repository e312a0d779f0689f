"""The judgement of an answer: its errors beside those that a row allows."""


class Wrong(Exception):
    """An answer that is not accepted, with the reason."""


def judge(row, errors):
    for name, error in errors.items():
        allowed = row.answer.get(name)
        if allowed is not None and not error <= allowed:
            raise Wrong(f"{name} {error:.1e} of {allowed:.0e} allowed")
    return errors
