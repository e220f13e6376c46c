import { Money, roundedTo } from '@dispatch/common'
import isBIC from 'validator/lib/isBIC.js'
import isIBAN from 'validator/lib/isIBAN.js'

/** A transfer in euros. `amount` is a decimal text. */
export type Transfer = { iban: string, bic: string, name: string, amount: string, remittance: string }

/** The range of amounts that the scheme permits. */
const least = '0.01'
const maxAmount = '999999999.99'

/** The most characters of a remittance text. */
const longest = 140

/** Whether the scheme can carry a transfer: it needs an account and its holder, and an amount to pay (a refund has none). */
export function isPayable ({ iban, bic, name, amount, remittance }: Transfer): boolean {
  const value = roundedTo(new Money(amount), 2)
  return value.gte(least) && value.lte(maxAmount) && isIban(iban) && (bic === '' || isBic(bic)) &&
    oneLine(name) !== '' && oneLine(remittance).length <= longest
}

/** Whether a text is an IBAN with valid check digits, with or without spaces between groups. */
export function isIban (text: string): boolean {
  return isIBAN.default(compact(text))
}

/** Whether a text is a BIC of 8 or 11 characters, with or without spaces. */
export function isBic (text: string): boolean {
  return isBIC.default(compact(text))
}

/**
 * The text of the QR code for a SEPA credit transfer (European Payments Council, EPC069-12 version 3.1: service tag, version 002, UTF-8),
 * at most 331 bytes. A name is cut after the 70 characters that the scheme permits.
 */
export function transferText ({ iban, bic, name, amount, remittance }: Transfer): string {
  const value = `EUR${roundedTo(new Money(amount), 2).toFixed(2)}`
  return ['BCD', '002', '1', 'SCT', compact(bic), oneLine(name).slice(0, 70).trim(), compact(iban), value, '', '', oneLine(remittance)]
    .join('\n')
}

function compact (text: string): string {
  return text.replaceAll(/\s/g, '').toUpperCase()
}

function oneLine (text: string): string {
  return text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim()
}
