import { normalForm, readMailbox } from '@dispatch/common'
import type { Poll } from './definition.ts'

/** A mailbox as most vendors of e-mails write one. */
export function mailboxOf (mailbox: string): { email: string, name?: string } {
  const { address: email, name } = readMailbox(mailbox) ?? { address: mailbox }
  return { email, ...(name !== undefined && { name }) }
}

/** The members that say something: those without a value and empty lists are left out, which some vendors refuse. */
export function given<
  Members extends Readonly<Record<string, unknown>>
> (members: Members): { [Name in keyof Members]?: Exclude<Members[Name], undefined> } {
  const said = ([, value]: [string, unknown]): boolean => value !== undefined && !(Array.isArray(value) && value.length === 0)
  return Object.fromEntries(Object.entries(members).filter(said)) as { [Name in keyof Members]?: Exclude<Members[Name], undefined> }
}

const [minute, hour] = [60, 3600]

/** When to ask what became of a text message: carriers report within minutes, and give up after two days. */
export const textMessagePoll: Poll = { after: 5 * minute, every: 2 * hour, until: 48 * hour }

/**
 * The end of a file's name, with its extension, of at most so many characters: without what separates folders, or has a meaning elsewhere.
 */
export function plainFileName (filename: string, longest = 100): string {
  return Array.from(normalForm(filename).replaceAll(/[/\\<>:"|?*\p{C}]+/gu, '-')).slice(-longest).join('')
}
