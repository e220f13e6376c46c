/** The most values in a whole body: far above any real document. To read ten times as many takes more than half a second. */
export const maxValues = 100_000

const quote = '"'.charCodeAt(0)
const [backslash, comma, bracket, brace, bracketEnd, braceEnd] = Buffer.from('\\,[{]}')

/**
 * Whether a JSON text has more than `max` values, without parsing it. Each value has a comma before it, or the bracket that opens its
 * array or object. Texts are skipped, so that a large file in base64 costs almost nothing. The count may be wrong for a text that is not
 * JSON.
 */
export function hasMoreValues (json: Buffer, max: number = maxValues): boolean {
  // Each value that is counted has a byte of its own: the usual body is too short to have more.
  if (json.length <= max) return false
  let values = 0
  for (let at = 0; at < json.length; at++) {
    const byte = json[at]
    if (byte === quote) at = endOfText(json, at)
    else if ((byte === comma || byte === bracket || byte === brace) && ++values > max) return true
  }
  return false
}

/** Whether a text of JSON is nested deeper than `max` arrays and objects. The text is not parsed. */
export function isDeeper (json: Buffer, max: number): boolean {
  let depth = 0
  for (let at = 0; at < json.length; at++) {
    const byte = json[at]
    if (byte === quote) at = endOfText(json, at)
    else if (byte === bracketEnd || byte === braceEnd) depth--
    else if ((byte === bracket || byte === brace) && ++depth > max) return true
  }
  return false
}

/** The position of the quotation mark that ends the text begun at `start`. */
function endOfText (json: Buffer, start: number): number {
  for (let end = json.indexOf(quote, start + 1); end !== -1; end = json.indexOf(quote, end + 1)) {
    let escapes = 0
    while (json[end - 1 - escapes] === backslash) escapes++
    if (escapes % 2 === 0) return end
  }
  return json.length
}
