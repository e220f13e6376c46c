/** The words of proposals in French. */
export const words = {
  proposals: 'Propositions',
  proposalOf: 'Proposition du {at}',
  proposalsIntro: 'Ce que des assistants veulent envoyer. Rien ne part avant qu’une personne l’ait vu ici et envoyé.',
  proposalsNone: 'Aucun assistant n’a rien proposé.',
  proposalService: 'Service',
  proposalBy: 'Proposé avec une clé de l’utilisateur',
  proposalReason: 'Ce que dit l’assistant',
  proposalAt: 'Proposé',
  proposalStatus: 'État',
  proposalRequest: 'La demande entière',
  proposalDocument: 'Le document',
  proposalPlan: 'Ce que fait l’envoi',
  proposalSend: 'Envoyer',
  proposalDecline: 'Refuser',
  proposalDispatch: 'L’envoi qui en est issu',
  proposal_open: 'Attend une personne',
  proposal_sent: 'Envoyé',
  proposal_declined: 'Refusé',
  proposal_expired: 'Expiré',
  auditProposalSent: 'Une proposition d’un assistant a été envoyée',
  auditProposalDeclined: 'Une proposition d’un assistant a été refusée'
}
