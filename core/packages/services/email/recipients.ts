import { comparable, readMailbox } from '@dispatch/common'
import type { Addressee } from '../service.ts'

const kinds = ['to', 'cc', 'bcc'] as const
type Kind = typeof kinds[number]
type Recipients = { to: string | string[], cc?: string | string[], bcc?: string | string[] }

/** A recipient, or several, as a list. */
export function listOf (recipients: string | string[] | undefined): string[] {
  if (Array.isArray(recipients)) return recipients
  return recipients === undefined || recipients === '' ? [] : [recipients]
}

/** The three lists without those who were named before: to, then cc, then bcc. */
export function recipientsOf (given: Recipients): Record<Kind, string[]> {
  const { first } = sortOut(given)
  const listed = (kind: Kind): string[] => first.filter(({ field }) => field === kind).map(({ mailbox }) => mailbox)
  return { to: listed('to'), cc: listed('cc'), bcc: listed('bcc') }
}

/** All recipients where they are named, each address as all are compared. */
export function addresseesOf (given: Recipients): Addressee[] {
  return kinds.flatMap((field) =>
    listOf(given[field]).map((mailbox, index) => ({ address: comparedAs(mailbox), field, ...Array.isArray(given[field]) && { index } }))
  )
}

/** An address as all are compared; undefined for what is none. */
export function knownAddress (text: string): string | undefined {
  return readMailbox(text) !== undefined ? comparedAs(text) : undefined
}

/** Those who were named before, each with the list where they stand again. */
export function duplicatesIn (given: Recipients): readonly Named[] {
  return sortOut(given).again
}

type Named = { field: Kind, mailbox: string }

/** Hardly any mail system tells upper and lower case apart, and two copies are worse than one. */
function comparedAs (mailbox: string): string {
  return comparable(mailbox).toLowerCase()
}

function sortOut (given: Recipients): { first: Named[], again: Named[] } {
  const known = new Set<string>()
  const all = kinds.flatMap((field) => listOf(given[field]).map((mailbox) => ({ field, mailbox, address: comparedAs(mailbox) })))
  const { first = [], again = [] } = Object.groupBy(all, ({ address }) => {
    const isNew = !known.has(address)
    known.add(address)
    return isNew ? 'first' : 'again'
  })
  return { first, again }
}
