import type { Json } from '@dispatch/common'
import { noteSubjects } from '../model/codes.ts'
import type { File } from './fields.ts'
import type { XmlNode } from './xml.ts'

export type FoundNote = { code: string | undefined, text: string, from: XmlNode }

/** The notes of the data: the first two without a subject are the notes and the conditions, others are statements. */
export function notesOf (found: readonly FoundNote[], { nodes }: File): Record<string, Json> {
  const [notes, conditions, ...others] = found.filter(({ code }) => code === undefined)
  const fields = { notes, conditions }
  const statements = found.filter((note) => note.code !== undefined || others.includes(note))
  for (const [name, note] of Object.entries(fields)) if (note !== undefined) nodes.set(`/${name}`, note.from)
  for (const [index, { from }] of statements.entries()) nodes.set(`/statements/${index}`, from)
  return {
    ...(notes === undefined ? {} : { notes: notes.text }),
    ...(conditions === undefined ? {} : { conditions: conditions.text }),
    ...(statements.length === 0
      ? {}
      : { statements: statements.map(({ code, text }) => ({ ...(code === undefined ? {} : { code }), text })) })
  }
}

/** The notes in a text of UBL: a subject comes before its text, between number signs. Peppol has all of them in one text. */
export function ublNotesIn (text: string, from: XmlNode): FoundNote[] {
  const parts = text.split(/\n(?=#[A-Z0-9]{3}#)/)
  const texts = parts.every((part, index) => part === part.trim() && (index === 0 || isCoded(part))) ? parts : [text]
  return texts.map((part) =>
    isCoded(part) ? { code: part.slice(1, 4), text: part.slice(5).trim(), from } : { code: undefined, text: part, from }
  )
}

function isCoded (text: string): boolean {
  return /^#...#\s*\S/s.test(text) && noteSubjects.has(text.slice(1, 4))
}
