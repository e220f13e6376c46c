/** The option that asks for the short runs. */
export const smokeOption = '--smoke'

/** Whether a benchmark only shows that it runs and prints its tables; the figures then mean nothing. */
export const smoke = process.argv.includes(smokeOption)

/** The amount to measure: only about a second's worth in a short run. */
export function effort<Amounts> (full: Amounts, short: Amounts): Amounts {
  return smoke ? short : full
}
