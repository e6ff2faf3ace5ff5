import { collectCitations, renderCoverage } from '../test/requirement-citations.ts';

console.log(renderCoverage(collectCitations()));
