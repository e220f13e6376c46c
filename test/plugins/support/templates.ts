/** The YAML of a letter; its first line is its name. */
export function letterYaml (name: string, greeting = 'Dear'): string {
  return `name: ${name}\nservice: file\nlocale: en\nbody: [{ paragraph: "${greeting} {{ name }}" }]\n`
}

type Letter = {
  source: string
  schema: { type: string, additionalProperties: boolean, required: string[], properties: Record<string, unknown> }
  sample: Record<string, unknown>
}

/** The body that stores a letter. */
export function letter ({ name = 'Letter', greeting = 'Dear', ...changes }: { name?: string, greeting?: string } & Partial<Letter> =
  {}): Letter
{
  return {
    source: letterYaml(name, greeting),
    schema: { type: 'object', additionalProperties: false, required: ['name'], properties: { name: { type: 'string' } } },
    sample: { name: 'Ada' },
    ...changes
  }
}

/** An invoice that shows little. */
export const invoiceYaml = `name: Own invoice
service: invoicing
documentType: INVOICE
vocabulary: invoice
locale: en
body:
  - heading: Invoice {{ number }}
  - paragraph: "{{ customer.name }}"
  - paragraph: "{{ total | money }}"
`
