import { deliveryStatusesOf, isDeliveryService } from '@dispatch/contract'
import { type ProvidedName, services } from '@dispatch/services'

/** What a page is about; `entry` is the file of the definition. */
export type Subject = { code: string, service: ProvidedName, entry: string, own?: true }

/** The README.md of a new provider with these settings: what is left to write. */
export function readmeOf ({ code, service, entry, own }: Subject, settings: readonly string[]): string {
  const { body, filled, events } = services[service].outline
  const name = nameOf(code)
  return `# ${name}

Dispatches \`${service}\` through ${name}.

## What to configure

At ${name}: where the API key is made${events === undefined ? '' : ', and where the address of the webhook is entered'}. Here: ${
    settings.map((setting) => `\`${setting}\``).join(', ')
  }.

## Still to be written

${
    own === true
      ? '`npm test` checks the types and runs the kit: all cases pass, with an invented vendor. Put'
      : unfilled(entry, { body, filled })
  } ${name}'s own words in place of the placeholders: address, fields, answer and error codes in \`${entry}\`, the same in \`fixtures/\`.${
    events === undefined ? '' : ` In place of \`fixtures/webhook.signed.json\`, an event that ${name} has signed.`
  }${followUp(service)}
The guide is \`providers/README.md\` of Document Dispatch.
`
}

function unfilled (entry: string, { body, filled }: { body: string, filled: string }): string {
  return `\`npm run provider test <this folder>\` says what is missing: the request that goes to the vendor. In \`${entry}\`, in place of \`const ${body} = {}\`:

\`\`\`ts
const ${body} = ${filled}
\`\`\`

Then put`
}

/** The README.md of a provider that was written from a description: what a person must decide. */
export function describedReadmeOf (
  { code, service, entry, own }: Subject,
  { settings, undecided }: { settings: readonly string[], undecided: readonly string[] }
): string {
  const name = nameOf(code)
  return `# ${name}

Dispatches \`${service}\` through ${name}. \`${entry}\` and \`fixtures/\` were written from the description of its API.

## What to configure

${settings.map((setting) => `\`${setting}\``).join(', ')}: say where ${name} shows each of them.

## Still to be decided

${undecided.map((one) => `- ${one}`).join('\n')}

Change \`${entry}\` and \`fixtures/\` together. \`${
    own === true ? 'npm test' : 'npm run provider test <this folder>'
  }\` says what the code does not do that the service asks for;
\`${
    own === true
      ? 'npx dispatch-provider record'
      : 'npm run provider record'
  }\` replaces what was guessed of the answers by what ${name} says.${followUp(service)}
The guide is \`providers/README.md\` of Document Dispatch.
`
}

/** Services without an event in their outline whose status can be polled. The kit passes without it, but then it is never known. */
function followUp (service: ProvidedName): string {
  return isDeliveryService(service) && services[service].outline.events === undefined
    ? ` Write \`statuses\` and the verb \`status\` too: without them no delivery status is ever known (${
      deliveryStatusesOf(service).join(', ')
    }).`
    : ''
}

/** A code as a name: `pigeon-post` as `Pigeon Post`. */
export function nameOf (code: string): string {
  return code.split('-').map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join(' ')
}
