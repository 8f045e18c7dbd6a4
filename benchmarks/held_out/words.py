"""Every word of a text backwards: two pointers go from word to word, two others from both ends of a word inwards."""

from typing import NamedTuple

import numpy as np

from alphanpi import Environment, action, program, subproblem


class Text(NamedTuple):
    """The current problem is `letters[start:end]`, with a pointer on each side of what is looked at."""

    letters: str
    start: int
    end: int
    left: int
    right: int


def at_blank(text: Text) -> bool:
    """There is a blank at the right pointer."""
    return text.right < text.end and text.letters[text.right] == " "


def between(text: Text) -> Text | None:
    """The letters from the left pointer to the right one, the last excepted."""
    if text.left >= text.right:
        return None
    return Text(text.letters, start=text.left, end=text.right, left=text.left, right=text.right - 1)


class ReverseWords(Environment[Text]):
    """Reverses each word of a text. The size is the number of letters, blanks included."""

    fields = ("blank", "at_end", "met")
    train_sizes = (1, 2, 3, 4, 5, 6)  # two words of two letters need five
    validation_size = 9
    test_sizes = (10, 60, 100)

    word = subproblem(enter=between, leave=lambda caller, callee: caller._replace(letters=callee.letters))

    @action(pre=lambda text: text.left < text.right < text.end)
    def SWAP(self, text: Text) -> Text:
        """Exchange the letters at the pointers."""
        letters, left, right = text.letters, text.left, text.right
        exchanged = (letters[:left], letters[right], letters[left + 1 : right], letters[left], letters[right + 1 :])
        return text._replace(letters="".join(exchanged))

    @action(pre=lambda text: text.left < text.right)
    def LEFT_INWARDS(self, text: Text) -> Text:
        """Move the left pointer a letter to the right."""
        return text._replace(left=text.left + 1)

    @action(pre=lambda text: text.left < text.right)
    def RIGHT_INWARDS(self, text: Text) -> Text:
        """Move the right pointer a letter to the left."""
        return text._replace(right=text.right - 1)

    @action(pre=lambda text: text.right < text.end)
    def READ(self, text: Text) -> Text:
        """Move the right pointer a letter to the right."""
        return text._replace(right=text.right + 1)

    @action(pre=at_blank)
    def NEXT_WORD(self, text: Text) -> Text:
        """Move both pointers behind the blank."""
        return text._replace(left=text.right + 1, right=text.right + 1)

    @program(
        level=1,
        depth=lambda text: 2 * (text.end - text.start) + 1,
        pre=lambda text: text.left == text.start <= text.right == text.end - 1,
    )
    def REVERSE(self, before: Text, after: Text) -> bool:
        """Reverse the letters; the pointers may stand anywhere."""
        letters, start, end = before.letters, before.start, before.end
        backwards = letters[:start] + letters[start:end][::-1] + letters[end:]
        return after == before._replace(letters=backwards, left=after.left, right=after.right)

    @program(
        level=2,
        depth=lambda text: 2 * len(text.letters) + 2,
        pre=lambda text: text.start == text.left == text.right == 0 and text.end == len(text.letters),
        on={"REVERSE": word},
    )
    def REVERSE_WORDS(self, before: Text, after: Text) -> bool:
        """Reverse each word; the pointers may stand anywhere."""
        backwards = " ".join(word[::-1] for word in before.letters.split(" "))
        return after == before._replace(letters=backwards, left=after.left, right=after.right)

    def initial(self, program: str, size: int, rng: np.random.Generator) -> Text:
        alphabet = "abc" if program == "REVERSE" else "abc "
        letters = "".join(alphabet[place] for place in rng.integers(len(alphabet), size=size))
        return Text(letters, start=0, end=size, left=0, right=size - 1 if program == "REVERSE" else 0)

    def observe(self, text: Text) -> tuple[bool, ...]:
        return at_blank(text), text.right == text.end, text.left >= text.right

    def size(self, text: Text) -> int:
        return text.end - text.start
