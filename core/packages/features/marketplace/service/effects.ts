import type { Owner } from '@dispatch/core'
import type { ServedConfiguration } from '@dispatch/core/source'
import { isDeepStrictEqual } from 'node:util'
import type { AdapterEffect } from '../contract/marketplace.ts'
import type { AdapterState } from '../store/adapters.ts'
import { companiesInWords } from '../store/named-company.ts'

/** Before a change, or after it: how each configuration is served, by which version that runs, and to whom the adapter is offered. */
export type Scene = {
  configurations: readonly ServedConfiguration[]
  running: string | undefined
  companies: AdapterState['companies']
}

/** Names the owner of a configuration. */
export function ownerKey ({ companyId, userId }: Owner): string {
  return JSON.stringify([companyId, userId])
}

/** An effect on a company whose name is not known yet. */
export type Effect = Omit<AdapterEffect, 'company'>

/**
 * What a change does to those who dispatch through an adapter. `migrated`: the owners for whose settings the newer version makes others.
 * Whom nothing served before is not touched.
 */
export function effectsOf (before: Scene, after: Scene, migrated: ReadonlySet<string>): Effect[] {
  const later = new Map(after.configurations.map((one) => [ownerKey(one), one.served]))
  return before.configurations.flatMap((one): Effect[] => {
    const { companyId, userId, served } = one
    if (!isOffered(before, companyId)) return []
    const next = isOffered(after, companyId) ? later.get(ownerKey(one)) : undefined
    const owner = { companyId, ...(userId !== null && { userId }) }
    if (migrated.has(ownerKey(one)) && after.running !== undefined) return [{ ...owner, how: 'migrated', version: after.running }]
    if (next === undefined) return served === undefined ? [] : [{ ...owner, how: 'stopped' }]
    const { version } = next
    if (version !== after.running) return [{ ...owner, how: 'kept', version }]
    return [{ ...owner, how: isDeepStrictEqual(next.settings, served?.settings) ? 'goes_on' : 'restored', version }]
  })
}

function isOffered ({ companies }: Scene, companyId: number): boolean {
  return companies?.includes(companyId) !== false
}

/** Those who could not dispatch through it any more. */
export function stoppedBy (effects: readonly AdapterEffect[]): AdapterEffect[] {
  return effects.filter(({ how }) => how === 'stopped')
}

/** Whose settings they are, in words. */
export function whoseInWords ({ companyId: id, company: name, userId }: Pick<AdapterEffect, 'companyId' | 'company' | 'userId'>): string {
  return `${userId === undefined ? 'Those' : `Those of the user ${userId}`} of the company ${companiesInWords([{ id, name }])}.`
}
