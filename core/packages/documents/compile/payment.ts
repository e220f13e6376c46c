import { isDecimal } from '@dispatch/common'
import { isPayable, type Transfer, transferText } from '../code/epc.ts'
import { type CompileContext, recordRead } from './compile-context.ts'
import { markUsed, type Path } from './field-usage.ts'
import { liquidText } from './liquid.ts'
import { lookUp, pointerOf, type Scope } from './scope.ts'

/** The content of a code, and its place in the data; undefined when the code is left out. */
export type CodeText = (scope: Scope) => { text: string, at: string } | undefined

/** The fields of an invoice that become a transfer. The amount due is the total by default, and the account's holder is the seller. */
const paths = {
  iban: ['bankDetails', 'iban'],
  bic: ['bankDetails', 'bic'],
  name: ['bankDetails', 'accountHolder'],
  amount: ['total'],
  remittance: ['number']
} as const satisfies Record<keyof Transfer, Path>
const seller: Path = ['seller', 'name']
const due: Path = ['amountDue']

/**
 * Compiles the payment code of an invoice. The code is left out for a currency other than the euro, and for a payment that the scheme
 * cannot carry, such as one with an invalid IBAN.
 */
export function compilePayment (site: CompileContext): CodeText {
  for (const path of [paths.iban, paths.amount, paths.remittance]) recordRead(site, path, 'whole')
  for (const path of [paths.bic, paths.name, seller, due]) markUsed(site.uses, path, 'whole')
  return (scope) => {
    const transfer = transferOf(scope)
    if (scope.currency !== 'EUR' || !isDecimal(transfer.amount) || !isPayable(transfer)) return undefined
    return { text: transferText(transfer), at: pointerOf(scope, paths.iban) }
  }
}

function transferOf (scope: Scope): Transfer {
  const text = (path: Path): string => liquidText(lookUp(scope, path), () => pointerOf(scope, path))
  return {
    iban: text(paths.iban),
    bic: text(paths.bic),
    name: text(paths.name) || text(seller),
    amount: text(due) || text(paths.amount),
    remittance: text(paths.remittance)
  }
}
