/** The form of an identifier. Of some, Peppol only warns. */
export type Form = { rule: string, message: string, holds: (id: string) => boolean, isAdvice?: true }

/** The identifiers whose form Peppol checks, by their scheme (PEPPOL-COMMON-R040 to R053). */
export const forms: Readonly<Record<string, Form>> = {
  '0007': {
    rule: 'PEPPOL-COMMON-R049',
    message: 'A Swedish organisation number (0007) has ten digits, the last of them a check digit.',
    holds: (id) => /^\d{10}$/.test(id) && luhn(id)
  },
  '0088': {
    rule: 'PEPPOL-COMMON-R040',
    message: 'A GLN (0088) has only digits, and the last one is a check digit.',
    holds: (id) => /^\d+$/.test(id) && gs1(id)
  },
  '0096': { rule: 'PEPPOL-COMMON-R052', message: 'A Danish P number (0096) has ten digits.', holds: (id) => /^\d{10}$/.test(id) },
  '0151': {
    rule: 'PEPPOL-COMMON-R050',
    message: 'An Australian business number (0151) has eleven digits with check digits.',
    holds: (id) => /^\d{11}$/.test(id) && australian(id)
  },
  '0184': {
    rule: 'PEPPOL-COMMON-R042',
    message: 'A Danish CVR number (0184) has eight digits; DK before them is optional.',
    holds: (id) => /^(DK)?\d{8}$/.test(id)
  },
  '0192': {
    rule: 'PEPPOL-COMMON-R041',
    message: 'A Norwegian organisation number (0192) has nine digits, the last of them a check digit.',
    holds: isNorwegian
  },
  '0198': { rule: 'PEPPOL-COMMON-R053', message: 'A Danish SE number (0198) is DK and eight digits.', holds: (id) => /^DK\d{8}$/.test(id) },
  '0208': {
    rule: 'PEPPOL-COMMON-R043',
    message: 'A Belgian enterprise number (0208) has ten digits, the last two of them check digits.',
    holds: (id) => /^\d{10}$/.test(id) && Number(id.slice(8)) === 97 - Number(id.slice(0, 8)) % 97
  },
  '0201': {
    rule: 'PEPPOL-COMMON-R044',
    message: 'The code of an Italian authority (0201, IPA) has six letters and digits.',
    holds: (id) => /^[A-Za-z0-9]{6}$/.test(id),
    isAdvice: true
  },
  '0210': {
    rule: 'PEPPOL-COMMON-R045',
    message: 'An Italian tax code (0210) has 16 letters and digits in its order, or 11 digits.',
    holds: isTaxCode,
    isAdvice: true
  },
  '0211': {
    rule: 'PEPPOL-COMMON-R047',
    message: 'An Italian VAT number (0211) is IT and 11 digits, the last of them a check digit.',
    holds: (id) => !/^IT/i.test(id) || (/^\d{11}$/.test(id.slice(2)) && luhn(id.slice(2))),
    isAdvice: true
  },
  '9907': {
    rule: 'PEPPOL-COMMON-R046',
    message: 'An Italian tax code (9907) has 16 letters and digits in its order, or 11 digits.',
    holds: isTaxCode,
    isAdvice: true
  }
}

/** The codice fiscale of a person, or of a company. */
function isTaxCode (id: string): boolean {
  return /^([A-Za-z]{6}\d{2}[A-Za-z]\d{2}[^]{3}\d[A-Za-z]|\d{11})$/.test(id)
}

function digitsOf (id: string): number[] {
  return Array.from(id, Number)
}

function weighted (digits: readonly number[], weight: (index: number) => number): number {
  return digits.reduce((sum, digit, index) => sum + digit * weight(index), 0)
}

/** Modulo 10 with the weights 3 and 1 from the right (GS1 General Specifications, 7.9). */
function gs1 (id: string): boolean {
  const [check = 0, ...digits] = digitsOf(id).reverse()
  return (10 - weighted(digits, (index) => index % 2 === 0 ? 3 : 1) % 10) % 10 === check
}

/** ISO/IEC 7812-1, annex B. */
export function luhn (id: string): boolean {
  const sum = digitsOf(id).reverse().reduce((so, digit, index) => so + (index % 2 === 0 ? digit : digit * 2 - (digit > 4 ? 9 : 0)), 0)
  return sum % 10 === 0
}

/** Nine digits, modulo 11. */
export function isNorwegian (id: string): boolean {
  if (!/^\d{9}$/.test(id)) return false
  const [check = 0, ...digits] = digitsOf(id).reverse()
  return Number(id) > 0 && (11 - weighted(digits, (index) => index % 6 + 2) % 11) % 11 === check
}

function australian (id: string): boolean {
  const weights = [10, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19]
  const [first = 0, ...others] = digitsOf(id)
  return weighted([first - 1, ...others], (index) => weights[index] ?? 0) % 89 === 0
}

/** A Greek tax number: nine digits, modulo 11 of powers of two. */
export function isGreek (id: string): boolean {
  if (!/^\d{9}$/.test(id)) return false
  const [check = 0, ...digits] = digitsOf(id).reverse()
  return weighted(digits, (index) => 2 ** (index + 1)) % 11 % 10 === check
}

/** ISO 7064, modulo 97-10, with letters as 10 to 35: of an IBAN, its first four characters stand at the end. */
export function hasMod97 (text: string): boolean {
  const digits = Array.from(text.toUpperCase(), (character) => String(Number.parseInt(character, 36))).join('')
  return Array.from(digits).reduce((so, digit) => (so * 10 + Number(digit)) % 97, 0) === 1
}

/** ISO 13616. */
export function isIban (text: string): boolean {
  return /^[A-Z]{2}\d{2}[A-Za-z0-9]{1,30}$/.test(text) && hasMod97(text.slice(4) + text.slice(0, 4))
}
