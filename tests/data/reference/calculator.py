import re


def calculate(text):
    tokens = re.findall(r"\d+\.?\d*|\.\d+|\S", text)
    position = 0

    def peek():
        return tokens[position] if position < len(tokens) else ""

    def take():
        nonlocal position
        position += 1
        return tokens[position - 1]

    def factor():
        if peek() == "-":
            take()
            return -factor()
        if peek() == "(":
            take()
            value = total()
            if peek() != ")":
                raise ValueError("no )")
            take()
            return value
        if not peek():
            raise ValueError("incomplete")
        return float(take())

    def product():
        value = factor()
        while peek() in ("*", "/") and peek():
            value = value * factor() if take() == "*" else value / factor()
        return value

    def total():
        value = product()
        while peek() in ("+", "-") and peek():
            value = value + product() if take() == "+" else value - product()
        return value

    result = total()
    if position != len(tokens):
        raise ValueError("more than one expression")
    return result
