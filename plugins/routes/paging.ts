/** The cursor of the page after this one; null where a page was not full, so that there is none. */
export function nextCursorOf<Row> (rows: readonly Row[], limit: number, cursorOf: (row: Row) => string | number): string | null {
  const last = rows.at(-1)
  return last === undefined || rows.length < limit ? null : String(cursorOf(last))
}
