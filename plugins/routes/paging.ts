/**
 * One page of a list, of which one row more than fits was read: whether there is that one says whether there is a next page. `cursorOf`:
 * what stands for a row in the address of the page after it.
 */
export function pageOf<Row> (found: readonly Row[], limit: number, cursorOf: (row: Row) => string | number): {
  data: Row[]
  nextCursor: string | null
} {
  const data = found.slice(0, limit)
  const last = data.at(-1)
  return { data, nextCursor: last === undefined || found.length <= limit ? null : String(cursorOf(last)) }
}
