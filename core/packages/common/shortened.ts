const half = /[\uD800-\uDBFF]$/

/** The beginning of a text, of at most so many characters of UTF-16. A character that takes two, such as an emoji, is never cut in half. */
export function shortened (text: string, max: number): string {
  return text.length <= max ? text : text.slice(0, max).replace(half, '')
}
