import { germanRules, germanWarnings } from './national.ts'
import { sharedRules } from './peppol.ts'
import { type EInvoiceRule, only, rule, ruleOfEach, ruleOfLines } from './rule.ts'
import { sharedTotalsRules } from './totals.ts'

/** The requirements of XRechnung 3.0 beyond EN 16931. */
export const xrechnungRules: readonly EInvoiceRule[] = [
  ...sharedRules,
  ...sharedTotalsRules,
  ...germanRules,
  ...only(['CII'], [
    ruleOfLines('BR-TMP-3', '/grossPriceQuantity', 'In XRechnung both prices of a line are for the same quantity (BT-149).',
      ({ grossPrice, grossPriceQuantity: given, priceQuantity }) =>
        grossPrice === undefined || given === undefined || priceQuantity === undefined || given.eq(priceQuantity))
  ])
]

/** What XRechnung 3.0 warns of. */
export const xrechnungAdvice: readonly EInvoiceRule[] = [
  ...germanWarnings,
  rule('BR-DE-TMP-32', '/delivery/date', 'An invoice says when it was delivered, or its period, or the period of each line (BT-72, BG-14).',
    ({ invoice: { delivery, period, lines } }) =>
      delivery?.date !== undefined || period !== undefined || lines.every((line) => line.period !== undefined)),
  ruleOfEach('BR-TMP-2', 'The address of a supporting document begins with its scheme, such as https: (BT-124).',
    ({ invoice }) => invoice.attachments.map(({ url }, index) => ({ url, index })), ({ index }) => `/attachments/${index}/url`,
    ({ url }) => url === undefined || /^[a-z][a-z0-9+.-]+:/i.test(url))
]
