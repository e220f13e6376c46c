import type { ErrorWord } from '@dispatch/contract'
import type { ProviderErrorWord } from '@dispatch/vendor-io/outcome'

/** The error word that a client gets for that of a provider. Clients are not told which other requests the vendor would accept. */
export function clientWord (word: ProviderErrorWord): ErrorWord {
  return word === 'recipient_unavailable' ? 'provider_unavailable' : word
}
