/**
 * The characters of a line: a letter with its marks counts as one, as far as NFC can compose it. A wide letter (Chinese, Japanese, Korean)
 * counts as one.
 */
export function lengthOf (line: string): number {
  return Array.from(line).length
}

/** Breaks a text into lines of a width (characters) at its spaces. A word is never broken: a URL stays complete at any length. */
export function wrap (text: string, width: number): string[] {
  return text.split('\n').flatMap((line) => wrapLine(line, width))
}

function wrapLine (text: string, width: number): string[] {
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

/** The words between ordinary spaces. */
export function wordsOf (text: string): string[] {
  return text.split(/ +/).filter((word) => word !== '')
}
