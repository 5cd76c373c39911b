import '../support/deep.ts';
import './exactness.test.ts';
