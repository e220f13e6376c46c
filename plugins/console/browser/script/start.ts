import { askWhileTyping } from './ask.ts'
import { offerCopies } from './copy.ts'
import { openEditor } from './editor.ts'
import { followChanges } from './follow.ts'
import { sendOnce } from './once.ts'
import { offerPalette } from './palette.ts'
import { offerPasskeys } from './passkeys.ts'
import { showRefusal } from './refusal.ts'
import { nameZone, showTimes } from './times.ts'

/** What the script does once a page is there. */
export function start (): void {
  showTimes(document)
  nameZone()
  followChanges()
  askWhileTyping()
  offerPasskeys()
  offerCopies()
  offerPalette()
  sendOnce()
  openEditor()
  showRefusal()
}
