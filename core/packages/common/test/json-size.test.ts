import fc from 'fast-check'
import t from 'tap'
import { hasMoreValues } from '../json-size.ts'

/** The number of commas of a value, and of the brackets that open its arrays and objects. */
function sizeOf (value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const items = Object.values(value)
  return items.reduce((sum: number, item) => sum + sizeOf(item), Math.max(1, items.length))
}

const isOver = (text: string, max: number): boolean => hasMoreValues(Buffer.from(text), max)

void t.test('a text of JSON is as large as its value, whatever its texts contain', (t) => {
  fc.assert(fc.property(fc.jsonValue(), fc.constantFrom(undefined, 2), (value, space) => {
    const [text, size] = [JSON.stringify(value, undefined, space), sizeOf(value)]
    return !isOver(text, size) && isOver(text, size - 1) === size > 0
  }))
  t.end()
})

void t.test('quotation marks inside texts do not end them', (t) => {
  for (const text of ['a"b', '\\', '\\"', '\\\\"', '"', ',[{', '\\,"[', 'é"😀']) t.equal(isOver(JSON.stringify([text]), 1), false, text)
  t.end()
})

void t.test('a text that does not end, and what is no JSON, are looked at to their end', (t) => {
  for (const text of ['', '"', '"\\', '["\\"', '["a', '\0']) t.equal(isOver(text, 1), false, text)
  t.equal(isOver(',,', 1), true)
  t.end()
})

void t.test('the bound is far above a document of ten thousand lines', (t) => {
  const lines = Array.from({ length: 10_000 }, (_, line) => ({ description: 'Consulting', quantity: line, unitPrice: 450, total: 900 }))
  t.equal(hasMoreValues(Buffer.from(JSON.stringify({ lines }))), false)
  t.equal(hasMoreValues(Buffer.from(JSON.stringify([lines, lines, lines]))), true)
  t.end()
})
