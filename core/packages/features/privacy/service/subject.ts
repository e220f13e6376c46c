import { canonicalJson, type Problem } from '@dispatch/common'
import { refusal } from '@dispatch/contract'
import { type Identifiers, type Person, personOf } from '@dispatch/core'
import { isServiceName, services } from '@dispatch/services'
import { createHmac, hkdfSync } from 'node:crypto'
import type { IdentifierName, PersonBody } from '../contract/erasures.ts'

/** A person as somebody has named them. */
export type Subject = { by: IdentifierName[], identifiers: Identifiers }

/** Throws `validation_failed` where it names nobody. */
export function subjectOf ({ address, number, reference }: PersonBody): Subject {
  const problems: Problem[] = []
  if (address === undefined && number === undefined && reference === undefined) {
    problems.push({ path: '', code: 'required', message: 'Name a person: by address, number or reference.' })
  }
  const known = (text: string | undefined, name: IdentifierName, is: (text: string) => boolean): string[] => {
    if (text === undefined) return []
    const found = Object.values(services).flatMap(({ recipients }) => recipients?.known(text.trim()) ?? []).filter(is)
    if (found.length === 0) problems.push({ path: `/${name}`, code: 'format', message: wrong[name] })
    // As it was written, too: an address of another alphabet has two writings.
    return [...new Set(found.length === 0 ? [] : [...found, text.trim()])]
  }
  if (reference !== undefined && isServiceName(reference.trim())) {
    problems.push({ path: '/reference', code: 'format', message: wrong.reference })
  }
  const identifiers = {
    addresses: known(address, 'address', (text) => text.includes('@')),
    numbers: known(number, 'number', (text) => text.startsWith('+')),
    references: reference === undefined ? [] : [reference.trim()]
  }
  if (problems.length > 0) throw refusal('validation_failed', problems)
  const by = Object.entries({ address, number, reference }).flatMap(([name, text]) => text === undefined ? [] : [name as IdentifierName])
  return { by, identifiers }
}

const wrong: Readonly<Record<IdentifierName, string>> = {
  address: 'It is no e-mail address.',
  number: 'It is no phone number in E.164, such as +33612345678.',
  reference: 'It is the name of a service, and so stands in what names nobody.'
}

export const personNamed = ({ identifiers }: Pick<Subject, 'identifiers'>): Person => personOf(identifiers)

/** The same for the same person of a company; without the key nobody can try all numbers there are. */
export function createPersonHash (secret: Uint8Array): (companyId: number, subject: Subject) => string {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'erased persons', 32))
  return (companyId, { identifiers: { addresses, numbers, references } }) =>
    createHmac('sha256', key).update(canonicalJson([companyId, addresses[0] ?? '', numbers[0] ?? '', references[0] ?? '']))
      .digest('hex').slice(0, 32)
}
