def justify(text, width):
    lines, line = [], []
    for word in text.split():
        if line and len(" ".join([*line, word])) > width:
            lines.append(stretch(line, width))
            line = []
        line.append(word)
    if line:
        lines.append(" ".join(line))
    return lines


def stretch(words, width):
    gaps = len(words) - 1
    if not gaps:
        return words[0]
    blanks = width - sum(map(len, words))
    text = words[0]
    for index, word in enumerate(words[1:]):
        text += " " * (blanks // gaps + (index < blanks % gaps)) + word
    return text
