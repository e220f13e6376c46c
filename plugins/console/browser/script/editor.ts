/** Loads the editor on the pages that have a place for it. What it is made of is no part of this script, for it is large. */
export function openEditor (): void {
  const { editor } = document.querySelector<HTMLElement>('[data-editor]')?.dataset ?? {}
  if (editor !== undefined) void import(editor)
}
