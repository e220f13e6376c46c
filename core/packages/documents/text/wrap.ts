/**
 * The characters of a line: a letter with its marks counts as one, as far as NFC can compose it. A wide letter (Chinese, Japanese, Korean)
 * counts as one.
 */
export function lengthOf (line: string): number {
  return surrogate.test(line) ? Array.from(line).length : line.length
}

/** Half of a character outside of the Basic Multilingual Plane. */
const surrogate = /[\ud800-\udfff]/

/** Breaks a text into lines of a width (characters) at its spaces. A word is never broken: a URL stays complete at any length. */
export function wrap (text: string, width: number): string[] {
  return linesOf(text).flatMap((line) => wrapLine(line, width))
}

/** The lines of a text; nearly every text is one. */
export function linesOf (text: string): string[] {
  return text.includes('\n') ? text.split('\n') : [text]
}

function wrapLine (text: string, width: number): string[] {
  if (text.length <= width && !spare.test(text)) return [text]
  const lines: string[] = []
  let line = ''
  for (const word of wordsOf(text)) {
    if (line !== '' && lengthOf(line) + 1 + lengthOf(word) > width) {
      lines.push(line)
      line = word
    } else {
      line = line === '' ? word : `${line} ${word}`
    }
  }
  return [...lines, line]
}

/** Spaces that a line does not keep. */
const spare = /^ | $| {2}/

/** The words between ordinary spaces. */
export function wordsOf (text: string): string[] {
  return text.split(/ +/).filter((word) => word !== '')
}
