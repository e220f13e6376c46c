import { Decimal } from 'decimal.js'
import validator from 'validator'

/** A transfer in euros: `amount` a decimal text. */
export type Transfer = { iban: string, bic: string, name: string, amount: string, remittance: string }

/** What is wrong with a transfer: the field, and what would be right. */
export type TransferFault = { field: keyof Transfer, message: string }

/** Amounts that the scheme carries. */
const least = '0.01'
const most = '999999999.99'

/** Whether the scheme carries an amount at all: there is nothing to pay for a refund. */
export function isPayable (amount: string): boolean {
  const value = new Decimal(amount).toDecimalPlaces(2)
  return value.gte(least) && value.lte(most)
}

/**
 * The text of the QR code for a SEPA credit transfer (European Payments Council, EPC069-12 version 3.1: service tag, version
 * 002, UTF-8): at most 331 bytes. A name longer than the 70 characters of the scheme is cut there.
 */
export function transferText ({ iban, bic, name, amount, remittance }: Transfer): string {
  const value = `EUR${new Decimal(amount).toFixed(2)}`
  return ['BCD', '002', '1', 'SCT', compact(bic), oneLine(name).slice(0, 70).trim(), compact(iban), value, '', '', oneLine(remittance)].join('\n')
}

/** The first thing that is wrong with a transfer. */
export function transferFault ({ iban, bic, name, remittance }: Transfer): TransferFault | undefined {
  if (!validator.isIBAN(compact(iban))) return { field: 'iban', message: 'Expected an IBAN with its right check digits.' }
  if (bic !== '' && !validator.isBIC(compact(bic))) return { field: 'bic', message: 'Expected a BIC of 8 or 11 characters.' }
  if (oneLine(name) === '') return { field: 'name', message: 'Expected the name of the account\'s holder.' }
  if (oneLine(remittance).length > 140) return { field: 'remittance', message: 'Expected at most 140 characters, as a payment carries.' }
  return undefined
}

function compact (text: string): string {
  return text.replaceAll(/\s/g, '').toUpperCase()
}

function oneLine (text: string): string {
  return text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim()
}
