"""What the audit pages are given: views of a run, its tables, and their words.

``*_contexts`` hold a page's view and make it in one call; ``*_tables`` the tables that are files as
well, all of them listed in `run_tables`; ``*_words`` what codes and numbers are called; ``*_forms``
what leads send.
"""
