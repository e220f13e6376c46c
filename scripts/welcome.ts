import { demo } from '@dispatch/core'

/** The text for a newcomer, between empty lines, when the service answers at `url`. `console`: its address, where it is on. */
export function welcome (url: string, now: Date, console?: string): string {
  return `
Document Dispatch is ready at ${url} (documentation: ${url}/docs)
${console === undefined ? '' : `\nSign in to the console as ${demo.admin.email} with ${demo.admin.password}: ${console}\n`}
Dispatch a first invoice:

${firstDispatch(url, now)}

`
}

/**
 * A `curl` that dispatches an invoice of the Demo company. Its number is new at every start, because the simulator refuses a number that it
 * already has.
 */
function firstDispatch (url: string, now: Date): string {
  const [date = '', time = ''] = now.toISOString().split('T')
  const body = {
    documentType: 'INVOICE',
    template: {
      id: 1,
      data: {
        number: `F-${date.replaceAll('-', '')}-${time.slice(0, 8).replaceAll(':', '')}`,
        date,
        currency: 'EUR',
        customer: { name: 'Ada Lovelace', email: 'ada@example.com', city: 'London', country: 'GB' },
        lines: [{ description: 'Consulting', quantity: 2, unitPrice: 450, total: 900 }],
        subtotal: 900,
        taxRate: 20,
        taxAmount: 180,
        total: 1080
      }
    },
    metadata: { orderId: 'A-1001' }
  }
  return `curl -u ${demo.admin.email}:${demo.admin.password} -H 'Content-Type: application/json' ${url}/api/invoicing \\\n  -d ` +
    `'${JSON.stringify(body)}'`
}
