/** Points (1/72 inch) of a distance in millimetres. */
export function points (millimetres: number): number {
  return millimetres * 72 / 25.4
}

/** Sheets by name: width and height in points, in portrait format. */
export const sheets = { A4: [points(210), points(297)], Letter: [612, 792] } as const

/** The name of a paper size. */
export type PaperSize = keyof typeof sheets
/** The names of all paper sizes. */
export const paperSizes = Object.keys(sheets) as PaperSize[]

/** The page settings of a template. */
export type PageSetup = { size?: PaperSize | 'auto', orientation?: 'portrait' | 'landscape' }

/** The default of a template, and the meaning of `auto` where nobody knows the country. */
export const usualPaper = 'A4'

/** The countries that use Letter (CLDR 46, supplementalData.xml, paperSize "US-Letter"). All others use A4. */
const ofLetter: ReadonlySet<string> = new Set(['BZ', 'CA', 'CL', 'CO', 'CR', 'GT', 'MX', 'NI', 'PA', 'PH', 'PR', 'SV', 'US', 'VE'])

/** The paper of a country (ISO 3166-1 alpha-2). */
export function paperSizeOf (country: string): PaperSize {
  return ofLetter.has(country) ? 'Letter' : usualPaper
}
