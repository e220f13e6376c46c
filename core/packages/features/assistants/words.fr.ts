/** The words of proposals in French. */
export const words = {
  proposals: 'Propositions',
  proposalOf: 'Proposition du {at}',
  proposalsIntro: 'Ce que des assistants veulent envoyer. Rien ne part avant qu’une personne l’ait vu ici et envoyé.',
  proposalsNone: 'Aucun assistant n’a rien proposé.',
  proposalsHow: 'Comment un assistant propose un envoi',
  proposalService: 'Service',
  proposalBy: 'Proposé avec une clé de l’utilisateur',
  proposalReason: 'Ce que dit l’assistant',
  proposalAt: 'Proposé',
  proposalStatus: 'État',
  proposalRequest: 'La demande entière',
  proposalDocument: 'Le document',
  proposalPlan: 'Ce que fait l’envoi',
  proposalSend: 'Envoyer',
  proposalUnseen:
    'Elle envoie des fichiers téléversés qui ne peuvent pas être montrés ici ({files}) : elle ne peut donc pas être envoyée ' +
    'ici. Envoyez-la vous-même depuis « Envoyer », ou refusez-la.',
  proposalDeclineIntro: 'Elle n’est pas envoyée et ne pourra plus l’être. Son assistant peut la proposer de nouveau.',
  proposalDecline: 'Refuser',
  proposalDispatch: 'L’envoi qui en est issu',
  proposal_open: 'Attend une personne',
  proposal_sent: 'Envoyé',
  proposal_declined: 'Refusé',
  proposal_expired: 'Expiré',
  auditProposalSent: 'Une proposition d’un assistant a été envoyée',
  auditProposalDeclined: 'Une proposition d’un assistant a été refusée'
}
