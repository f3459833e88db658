// A language for tests, made of English: other letters, 40 % longer, and from right to left. Whoever sees a plain letter
// on a page in it has found a text that cannot be translated.

export const PSEUDO = "pseudo";

const LONGER = 1.4;
const LETTERS: Readonly<Record<string, string>> = Object.fromEntries(
  [..."aàbƀcçdđeéfƒgĝhĥiîjĵkķlļmɱnñoöpƥqɋrŕsštţuûvṽwŵxẋyýzžAÀBƁCÇDĐEÉFƑGĜHĤIÎJĴKĶLĻMṀNÑOÖPÞQɊRŔSŠTŢUÛVṼWŴXẊYÝZŽ"]
    .flatMap((letter, n, all) => (n % 2 ? [] : [[letter, all[n + 1]!]])),
);

/** A text in it. What stands in braces stays, and so does what is no word: a letter alone, a number. */
export function pseudo(english: string): string {
  return english.split(/(\{\w+\})/).map((part, n) => (n % 2 ? part : stretched(part))).join("");
}

function stretched(text: string): string {
  return text.replace(/[A-Za-z]{2,}/g, (word) => {
    let more = Math.round(word.length * (LONGER - 1));
    const doubled = word.replace(/[aeiou]/g, (letter) => (more-- > 0 ? letter + letter : letter));
    return [...doubled].map((letter) => LETTERS[letter] ?? letter).join("") + "é".repeat(Math.max(0, more));
  });
}
