/** The cursor of the next page; null when this page is not full, so that there is no next one. */
export function nextCursorOf<Row> (rows: readonly Row[], limit: number, cursorOf: (row: Row) => string | number): string | null {
  const last = rows.at(-1)
  return last === undefined || rows.length < limit ? null : String(cursorOf(last))
}
