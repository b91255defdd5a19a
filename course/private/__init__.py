"""All that a student must not have: solutions, questions with their right values, banks of answers, rubrics."""
