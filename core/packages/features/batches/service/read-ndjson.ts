import { isRecord } from '@dispatch/common'
import { largestRow, maxEmptyLines, objectOf, type ReadItem, requireUtf8, rowOfJson, rowTooLarge, tooManyEmptyLines } from './row.ts'

const newline = 10
const mark = Buffer.from('\ufeff')

/**
 * The rows of a text with a JSON value on each line; empty lines are none. A first line with the member `common` alone holds the body that
 * all rows have in common. A line that is no JSON object is a row with a problem. Throws a DispatchError for what is no such text.
 */
export async function* readNdjson (bytes: AsyncIterable<Buffer>): AsyncGenerator<ReadItem, void> {
  let number = 0
  for await (const lines of linesOf(bytes)) {
    for (const { text, line } of lines) {
      requireUtf8(text, `Line ${line}`)
      const common = number === 0 ? commonIn(text) : undefined
      yield common === undefined ? rowOfJson(++number, text) : { common }
    }
  }
}

function commonIn (text: Buffer) {
  if (!/^\s*\{\s*"common"\s*:/.test(text.subarray(0, 100).toString('latin1'))) return undefined
  const { common, ...others } = objectOf(text, '/common')
  return Object.keys(others).length === 0 && isRecord(common) ? objectOf(Buffer.from(JSON.stringify(common)), '/common') : undefined
}

type Line = { text: Buffer, line: number }

/** The lines of a text that are not empty, with their numbers, without its byte order mark: those that end in a piece of it together. */
async function* linesOf (bytes: AsyncIterable<Buffer>): AsyncGenerator<Line[], void> {
  let pieces: Buffer[] = []
  let [size, line, empty] = [0, 1, 0]
  const whole = (last: Buffer): Line[] => {
    const joined = pieces.length === 0 ? last : Buffer.concat([...pieces, last])
    ;[pieces, size] = [[], 0]
    const text = line === 1 && joined.subarray(0, mark.length).equals(mark) ? joined.subarray(mark.length) : joined
    if (!isEmpty(text)) return [{ text, line }]
    if (++empty > maxEmptyLines) throw tooManyEmptyLines()
    return []
  }
  for await (const piece of bytes) {
    const lines: Line[] = []
    let start = 0
    for (let end = piece.indexOf(newline); end !== -1; end = piece.indexOf(newline, start)) {
      lines.push(...whole(piece.subarray(start, end)))
      line++
      start = end + 1
    }
    yield lines
    size += piece.length - start
    if (size > largestRow) throw rowTooLarge(`Line ${line}`)
    if (start < piece.length) pieces.push(piece.subarray(start))
  }
  yield whole(Buffer.alloc(0))
}

function isEmpty (text: Buffer): boolean {
  return text.length === 0 || (text.length < 100 && text.toString('latin1').trim() === '')
}
