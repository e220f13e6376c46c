import type { FastifyContextConfig } from 'fastify'

/** Who may ask for an operation, as its route has it. */
export function whoMayAsk (config: FastifyContextConfig): string {
  if (config.public === true) return 'Without credentials.'
  return [people(config), programs(config), proof(config)].filter((text) => text !== undefined).join(' ')
}

/** Where nothing is said of people, all may: the beginning of the document tells it once. */
function people ({ roles, everyService }: FastifyContextConfig): string | undefined {
  if (roles === undefined && everyService === undefined) return undefined
  const who = roles === undefined ? 'All users' : capital(roles.map((role) => `${role}s`).join(' and '))
  return `${who}${everyService === undefined ? '' : ' who may use every service'}.`
}

function programs ({ scopes = [], person, freshProof, testable }: FastifyContextConfig): string {
  if (person === true || freshProof === true || scopes.length === 0) return 'No key.'
  const which = scopes === 'any' ? 'Keys' : `Keys with ${scopes.map((scope) => `\`${scope}\``).join(' or ')}`
  return `${which}${testable === true ? ', test keys' : ''}.`
}

function proof ({ freshProof }: FastifyContextConfig): string | undefined {
  if (freshProof === undefined) return undefined
  return freshProof === true
    ? 'Needs a login of the last 5 minutes.'
    : `Needs a login of the last 5 minutes ${
      freshProof === 'in part' ? 'where credentials change' : `for ${freshProof.map((field) => `\`${field}\``).join(', ')}`
    }.`
}

function capital (text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
