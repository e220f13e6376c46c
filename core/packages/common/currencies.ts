function codes (list: string): readonly string[] {
  return list.trim().split(/\s+/)
}

/**
 * ISO 4217, with its codes for metals, funds and tests, and the offshore yuan (CNH). XAD is left out, because Factur-X does not have it
 * (BR-CL-03 to BR-CL-05).
 */
export const currencies: ReadonlySet<string> = new Set(codes(`
  AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BHD BIF BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW CLF CLP CNH CNY COP
  COU CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD
  JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN
  NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS
  TMT TND TOP TRY TTD TWD TZS UAH UGX USD USN UYI UYU UYW UZS VED VES VND VUV WST XAF XAG XAU XBA XBB XBC XBD XCD XCG XDR XOF XPD XPF XPT
  XSU XTS XUA XXX YER ZAR ZMW ZWG
`))

/** Codes withdrawn since 2021. Documents about older invoices still use them, e-invoices do not. */
const withdrawn: ReadonlySet<string> = new Set(['ANG', 'BGN', 'CUC', 'HRK', 'SLL', 'ZWL'])

/**
 * The decimals of currencies whose minor unit is not a hundredth (ISO 4217, list one). Codes without a minor unit, such as gold, count in
 * hundredths.
 */
const minorUnits: ReadonlyMap<string, number> = new Map([
  ...codes('BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF').map((code) => [code, 0] as const),
  ...codes('BHD IQD JOD KWD LYD OMR TND').map((code) => [code, 3] as const),
  ...codes('CLF UYW').map((code) => [code, 4] as const)
])

/** Whether a text is a code of ISO 4217, or was one until recently. */
export function isCurrency (code: string): boolean {
  return currencies.has(code) || withdrawn.has(code)
}

/** The number of decimals of a currency: 2 for EUR, 0 for JPY, 3 for KWD. An unknown currency has 2. */
export function minorDigits (currency: string): number {
  return minorUnits.get(currency) ?? 2
}
