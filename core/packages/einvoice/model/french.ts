import type { Decimal } from '@dispatch/common'
import type { Text } from './model.ts'

/** What a French invoice is about, with its letter in BT-23. */
export const operationNatures = { GOODS: 'B', SERVICES: 'S', MIXED: 'M' } as const

/** The kinds of French invoices (AFNOR XP Z12-012, BT-23). */
const processes = new Set('B1 S1 M1 B2 S2 M2 S3 B4 S4 M4 S5 S6 B7 S7 B8 S8 M8 B9 S9 M9'.split(' '))

export function isFrenchProcess (process: Text): boolean {
  return process !== undefined && processes.has(process)
}

type Facts = { nature: Text, type: string, isAfterAnother: boolean, prepaid: Decimal | undefined, total: () => Decimal }

/**
 * BT-23 of a French invoice, of what it is about and how much of it is paid: all (2), or a deposit that an earlier invoice named (4).
 * Undefined where the data do not say what it is about.
 */
export function frenchProcess ({ nature, type, isAfterAnother, prepaid, total }: Facts): Text {
  const letter = nature !== undefined && Object.hasOwn(operationNatures, nature)
    ? operationNatures[nature as keyof typeof operationNatures]
    : undefined
  if (letter === undefined) return undefined
  if (prepaid?.gt(0) !== true) return `${letter}1`
  if (prepaid.eq(total())) return `${letter}2`
  return isAfterAnother && !['386', '500', '503'].includes(type) ? `${letter}4` : `${letter}1`
}
