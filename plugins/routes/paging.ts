type Page<View> = { data: View[], nextCursor: string | null }

/**
 * One page of a list, of which one row more than fits was read: whether there is that one says whether there is a next page. `viewOf` makes
 * what is shown of a row, of the rows on the page alone. `cursorOf`: what stands for a row in the address of the page after it.
 */
export function pageOf<View> (found: readonly View[], limit: number, cursorOf: (view: View) => string | number): Page<View>
export function pageOf<Row, View> (
  found: readonly Row[],
  limit: number,
  cursorOf: (view: View) => string | number,
  viewOf: (row: Row) => View
): Page<View>
export function pageOf (
  found: readonly unknown[],
  limit: number,
  cursorOf: (view: unknown) => string | number,
  viewOf: (row: unknown) => unknown = (row) => row
): Page<unknown> {
  const data = found.slice(0, limit).map((row) => viewOf(row))
  return { data, nextCursor: data.length === 0 || found.length <= limit ? null : String(cursorOf(data.at(-1))) }
}
