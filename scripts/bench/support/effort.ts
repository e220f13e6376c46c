/** The option that asks for the short runs. */
export const smokeOption = '--smoke'

/** Whether it shall only be seen that a benchmark runs and prints its tables; the figures mean nothing then. */
export const smoke = process.argv.includes(smokeOption)

/** How much is measured: about a second's worth where it shall only be seen that the benchmark runs. */
export function effort<Amounts> (full: Amounts, short: Amounts): Amounts {
  return smoke ? short : full
}
