import '../support/deep.ts';
import './large-answers.timing.test.ts';
