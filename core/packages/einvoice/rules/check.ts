import { compile, type JsonObject, type Problem } from '@dispatch/common'
import type { EInvoiceModel } from '../model/model.ts'
import { totalsOf } from '../model/totals.ts'
import { type Reading, readInvoice } from '../read/read.ts'
import { codeRules } from './codes.ts'
import { coreRules } from './core.ts'
import { frenchRules } from './france.ts'
import { nationalRules } from './national.ts'
import { paymentAdvice, paymentRules } from './payment.ts'
import { peppolRules } from './peppol.ts'
import { type EInvoiceRule, only, rule, type RuleInput } from './rule.ts'
import { partsRules, totalsRules } from './totals.ts'
import { vatRules } from './vat.ts'

/** All rules whose violation prevents an e-invoice. */
export const eInvoiceRules: readonly EInvoiceRule[] = [
  ...coreRules,
  ...vatRules,
  ...totalsRules,
  ...only(['UBL'], partsRules),
  ...codeRules,
  ...paymentRules,
  ...peppolRules,
  ...nationalRules,
  ...only(['CII'], [
    rule('BG-3', '/precedingInvoices', 'CII D16B can name one earlier invoice only; FACTUR_X and UBL can name several.',
      ({ invoice }: { invoice: EInvoiceModel }) => invoice.precedingInvoices.length <= 1)
  ])
]

/** All rules whose violation is only a warning. */
export const warningRules: readonly EInvoiceRule[] = [...only(['CII', 'FACTUR_X'], partsRules), ...paymentAdvice, ...frenchRules]

const fits = compile({ $ref: 'dispatch:invoice' })

/**
 * Checks the data of an e-invoice before anything is made or sent: against the vocabulary, then with every rule. The code of a problem is
 * the id of the rule; its path is the place in the data below `base`.
 */
export function checkEInvoice (data: JsonObject, reading: Reading, base: string): { problems: Problem[], warnings: Problem[] } {
  const fit = fits(data, base)
  const misfits = fit.ok ? [] : fit.problems
  const invoice = readInvoice(data, reading)
  const subject = { invoice, totals: totalsOf(invoice), format: reading.format, data }
  // A value of the wrong type has already been reported. The rules would report it as missing.
  const isNews = ({ path }: Problem): boolean => !misfits.some((misfit) => `${path}/`.startsWith(`${misfit.path}/`))
  return { problems: [...misfits, ...broken(eInvoiceRules, subject, base).filter(isNews)], warnings: broken(warningRules, subject, base) }
}

function broken (known: readonly EInvoiceRule[], subject: RuleInput, base: string): Problem[] {
  return known.flatMap(({ id, message, broken }) => broken(subject).map((at) => ({ path: base + at, code: id, message })))
}
